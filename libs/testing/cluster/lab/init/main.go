// The first process of a test cluster's namespaces (mount, network, process): `init DIRECTORY HOSTNAME`.
//
// It makes what containerd and the kubelet write at fixed places (/run, /var/lib, /var/log) vanish with the namespace, says `ready`, and from
// then on only takes in orphans. When it ends, the kernel ends every process of the cluster and undoes its mounts and its network.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	if len(os.Args) != 3 || os.Getpid() != 1 {
		fail("usage", fmt.Errorf("init DIRECTORY HOSTNAME, as the first process of a namespace"))
	}
	directory := os.Args[1]
	// Volumes of pods are mounted by the kubelet and used by runc: both see the same tree, and none of it reaches the host.
	must("share the mounts", syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SHARED, ""))
	must("name the host", syscall.Sethostname([]byte(os.Args[2])))
	must("forward packets", os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644))
	private := filepath.Join(directory, "private")
	must("make "+private, os.MkdirAll(private, 0o700))
	must("mount "+private, syscall.Mount("tmpfs", private, "tmpfs", 0, "mode=0755"))
	for _, place := range []string{"/run", "/var/lib", "/var/log"} {
		// An overlay below an overlay cannot hold containers: who keeps the cluster's folder there gets the leftovers, too.
		if strings.HasPrefix(directory, place+"/") {
			continue
		}
		name := strings.ReplaceAll(place[1:], "/", "-")
		upper, work := filepath.Join(private, name), filepath.Join(private, name+"-work")
		must("make "+upper, os.Mkdir(upper, 0o755))
		must("make "+work, os.Mkdir(work, 0o755))
		must("cover "+place, syscall.Mount("overlay", place, "overlay", 0, "lowerdir="+place+",upperdir="+upper+",workdir="+work))
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGCHLD)
	// Nobody may read it any more.
	signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP, syscall.SIGINT)
	fmt.Println("ready")
	for s := range signals {
		if s == syscall.SIGTERM {
			return
		}
		for {
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
	}
}

func must(what string, err error) {
	if err != nil {
		fail(what, err)
	}
}

func fail(what string, err error) {
	fmt.Fprintf(os.Stderr, "cannot %s: %v\n", what, err)
	os.Exit(1)
}
