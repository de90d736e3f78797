//! drumfire.shop.v1.Shop.

use super::call::Call;
use super::ended::Ended;
use super::messages::{
    AddRequest, CartMessage, LoginReply, LoginRequest, LogoutReply, LogoutRequest, Order,
    PlaceRequest,
};
use super::status::Status;
use crate::grpc_code::GrpcCode;
use crate::shop::{Credentials, Mistake, Shop};
use http::HeaderMap;

/// The service's full name.
pub(crate) const NAME: &str = "drumfire.shop.v1.Shop";

/// Answers a call of this service.
pub(crate) async fn dispatch(call: &mut Call, method: &str) -> Result<(), Ended> {
    match method {
        "Login" => log_in(call).await,
        "Add" => add(call).await,
        "Place" => place(call).await,
        "Logout" => log_out(call).await,
        _ => Err(Status::unknown(NAME, method).into()),
    }
}

async fn log_in(call: &mut Call) -> Result<(), Ended> {
    let request: LoginRequest = call.inlet.only().await?;
    let keys = act(call, |shop, _| {
        shop.log_in(&request.user, &request.password)
    })
    .await?;
    let token = keys.ticket.to_string();
    call.send(&LoginReply { token }).await
}

async fn add(call: &mut Call) -> Result<(), Ended> {
    let request: AddRequest = call.inlet.only().await?;
    let count = request.count.unwrap_or(1);
    let cart = act(call, |shop, credentials| {
        shop.add(credentials, request.product, count)
    })
    .await?;
    let sum = cart.sum();
    let (count, total) = (sum.count, sum.total);
    call.send(&CartMessage { count, total }).await
}

async fn place(call: &mut Call) -> Result<(), Ended> {
    let request: PlaceRequest = call.inlet.only().await?;
    let paid = act(call, |shop, credentials| {
        shop.pay(credentials, request.amount)
    })
    .await?;
    let (id, total) = (paid.order, paid.total);
    call.send(&Order { id, total }).await
}

async fn log_out(call: &mut Call) -> Result<(), Ended> {
    let _: LogoutRequest = call.inlet.only().await?;
    act(call, |shop, credentials| shop.log_out(credentials)).await?;
    call.send(&LogoutReply {}).await
}

/// Acts in the shop after the call's delay; a mistake is counted and ends the call. A requested
/// fault comes before the action, so a failed call had no effect.
async fn act<T>(
    call: &mut Call,
    act: impl FnOnce(&Shop, &Credentials) -> Result<T, Mistake>,
) -> Result<T, Ended> {
    call.apply_faults().await?;
    let credentials = credentials(&call.metadata);
    let Some(shop) = call.shop() else {
        return Err(Status::unknown(NAME, "").into());
    };
    act(shop, &credentials).map_err(|mistake| {
        shop.note(&mistake);
        status(&mistake).into()
    })
}

fn credentials(metadata: &HeaderMap) -> Credentials {
    let value = |name: &str| metadata.get(name).map(http::HeaderValue::as_bytes);
    Credentials::of_call(value("authorization"), value("x-shop-user"))
}

/// A mistake as a status, with its name before the reason.
fn status(mistake: &Mistake) -> Status {
    let code = match mistake.kind.status() {
        401 => GrpcCode::UNAUTHENTICATED,
        403 => GrpcCode::PERMISSION_DENIED,
        404 => GrpcCode::NOT_FOUND,
        409 => GrpcCode::FAILED_PRECONDITION,
        _ => GrpcCode::INVALID_ARGUMENT,
    };
    let name = mistake.kind.name();
    Status::new(code, format!("{name}: {}", mistake.reason))
}
