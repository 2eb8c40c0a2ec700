// Gitea as its own main has it, but for one thing: `web` ends with whoever started it.
package main

import (
	"io"
	"os"
	"runtime"
	"syscall"
	"time"

	"gitea.dev/cmd"
	"gitea.dev/modules/log"
	_ "gitea.dev/modules/markup/console"
	_ "gitea.dev/modules/markup/csv"
	_ "gitea.dev/modules/markup/jupyter"
	_ "gitea.dev/modules/markup/markdown"
	_ "gitea.dev/modules/markup/orgmode"
	"gitea.dev/modules/setting"

	"github.com/urfave/cli/v3"
)

// Version is set by the linker.
var Version = "development"

// stopWithin is how long requests that are being answered may still take.
const stopWithin = 10 * time.Second

func main() {
	// Standard input is a pipe of the process that started this: it ends with that process, even one that was killed. Git's hooks are other
	// commands of this program, and have something to read there.
	if len(os.Args) > 1 && os.Args[1] == "web" {
		go endWithInput()
	}
	setting.AppVer = Version
	setting.AppBuiltWith = " built with " + runtime.Version()
	setting.AppStartTime = time.Now().UTC()
	cli.OsExiter = func(code int) {
		log.GetManager().Close()
		os.Exit(code)
	}
	_ = cmd.RunMainApp(cmd.NewMainApp(cmd.AppVersion{Version: Version, Extra: setting.AppBuiltWith}), os.Args...)
	log.GetManager().Close()
}

func endWithInput() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGTERM)
	time.Sleep(stopWithin)
	os.Exit(1)
}
