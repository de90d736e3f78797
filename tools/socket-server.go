// A server of WebSockets by a library for Go, for a test: socket-server PORT
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/coder/websocket"
)

func serve(out http.ResponseWriter, in *http.Request) {
	path := in.URL.Path
	if strings.HasPrefix(path, "/no") {
		http.Error(out, "no", http.StatusForbidden)
		return
	}
	socket, err := websocket.Accept(out, in, &websocket.AcceptOptions{
		Subprotocols:         []string{"chat.v2"},
		CompressionMode:      websocket.CompressionContextTakeover,
		CompressionThreshold: 1,
	})
	if err != nil {
		return
	}
	defer socket.CloseNow()
	socket.SetReadLimit(1 << 20)
	life := context.Background()
	if strings.HasPrefix(path, "/ticks") {
		for n := 0; n < 5; n++ {
			if socket.Write(life, websocket.MessageText, []byte(fmt.Sprintf("tick %d", n))) != nil {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	for {
		kind, message, err := socket.Read(life)
		if err != nil || socket.Write(life, kind, message) != nil {
			return
		}
		if strings.HasPrefix(path, "/bye") {
			socket.Close(4001, "enough")
			return
		}
	}
}

func main() {
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], http.HandlerFunc(serve)))
}
