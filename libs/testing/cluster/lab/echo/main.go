// A small web server for tests: `echo [PORT]` (8080). `/` says its host name and where the caller came to; `/fetch?url=` asks another and hands its answer on.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

func main() {
	port := "8080"
	if len(os.Args) > 1 {
		port = os.Args[1]
	}
	host, _ := os.Hostname()
	client := &http.Client{Timeout: 5 * time.Second}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "%s at %s\n", host, r.Host) })
	http.HandleFunc("/fetch", func(w http.ResponseWriter, r *http.Request) {
		answer, err := client.Get(r.URL.Query().Get("url"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer answer.Body.Close()
		w.WriteHeader(answer.StatusCode)
		io.Copy(w, answer.Body)
	})
	fmt.Println("listening on", port)
	fmt.Fprintln(os.Stderr, http.ListenAndServe(":"+port, nil))
	os.Exit(1)
}
