//! helloworld.Greeter.

use super::call::Call;
use super::ended::Ended;
use super::messages::{HelloReply, HelloRequest};
use super::status::Status;

/// The service's full name.
pub(crate) const NAME: &str = "helloworld.Greeter";

/// The people whom a stream greets.
const PEOPLE: [&str; 4] = ["Ada", "Grace", "Barbara", "Edsger"];

/// Answers a call of this service.
pub(crate) async fn dispatch(call: &mut Call, method: &str) -> Result<(), Ended> {
    match method {
        "SayHello" => say_hello(call).await,
        "SayHellos" => say_hellos(call).await,
        "SayHelloCS" => say_hello_cs(call).await,
        "SayHelloBidi" => say_hello_bidi(call).await,
        _ => Err(Status::unknown(NAME, method).into()),
    }
}

async fn say_hello(call: &mut Call) -> Result<(), Ended> {
    let request: HelloRequest = call.inlet.only().await?;
    call.send(&hello(&request.name)).await
}

async fn say_hellos(call: &mut Call) -> Result<(), Ended> {
    let request: HelloRequest = call.inlet.only().await?;
    for (n, person) in PEOPLE.iter().enumerate() {
        if n > 0 {
            call.pause(call.gap()).await?;
        }
        let message = if request.name.is_empty() {
            format!("Hello {person}")
        } else {
            format!("Hello {person}, from {}", request.name)
        };
        call.send(&HelloReply { message }).await?;
    }
    Ok(())
}

async fn say_hello_cs(call: &mut Call) -> Result<(), Ended> {
    let mut count = 0;
    while call.inlet.next::<HelloRequest>().await?.is_some() {
        count += 1;
    }
    let message = format!("Hello count: {count}");
    call.send(&HelloReply { message }).await
}

async fn say_hello_bidi(call: &mut Call) -> Result<(), Ended> {
    while let Some(request) = call.inlet.next::<HelloRequest>().await? {
        call.send(&hello(&request.name)).await?;
    }
    Ok(())
}

fn hello(name: &str) -> HelloReply {
    HelloReply {
        message: format!("Hello {name}"),
    }
}
