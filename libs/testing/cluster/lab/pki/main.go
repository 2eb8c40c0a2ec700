// The certificates of a test cluster: `pki DIRECTORY NODE-NAME NODE-ADDRESS SERVICE-ADDRESS [FILE NAME…]`. They last a month and protect nothing but tests.
// The last ones ask for one more, FILE.crt, of a server with these host names.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

var directory string

func main() {
	if len(os.Args) < 5 || len(os.Args) == 6 {
		fmt.Fprintln(os.Stderr, "usage: pki DIRECTORY NODE-NAME NODE-ADDRESS SERVICE-ADDRESS [FILE NAME…]")
		os.Exit(2)
	}
	directory = os.Args[1]
	node, address, service := os.Args[2], net.ParseIP(os.Args[3]), net.ParseIP(os.Args[4])
	loopback := net.IPv4(127, 0, 0, 1)
	cluster, front := newAuthority("ca"), newAuthority("front-proxy-ca")

	cluster.client("admin", "admin", "system:masters")
	cluster.client("controller-manager", "system:kube-controller-manager")
	cluster.client("scheduler", "system:kube-scheduler")
	cluster.client("proxy", "system:kube-proxy")
	cluster.client("apiserver-kubelet", "apiserver-kubelet", "system:masters")
	cluster.client("kubelet", "system:node:"+node, "system:nodes")
	front.client("front-proxy-client", "front-proxy-client")
	cluster.server("apiserver", "kube-apiserver", []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
		"kubernetes.default.svc.cluster.local"}, []net.IP{loopback, address, service})
	cluster.server("kubelet-server", "system:node:"+node, []string{node}, []net.IP{loopback, address})

	if len(os.Args) > 6 {
		cluster.server(os.Args[5], os.Args[6], os.Args[6:], nil)
	}

	account := newKey()
	writeKey("service-account", account)
	public, err := x509.MarshalPKIXPublicKey(account.Public())
	check(err)
	write("service-account.pub", "PUBLIC KEY", public)
}

func newAuthority(name string) authority {
	template := template(name)
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature
	key := newKey()
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	check(err)
	certificate, err := x509.ParseCertificate(der)
	check(err)
	write(name+".crt", "CERTIFICATE", der)
	writeKey(name, key)
	return authority{certificate, key}
}

func (a authority) client(file, name string, groups ...string) {
	template := template(name)
	template.Subject.Organization = groups
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	a.issue(file, template)
}

func (a authority) server(file, name string, names []string, addresses []net.IP) {
	template := template(name)
	template.DNSNames, template.IPAddresses = names, addresses
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	a.issue(file, template)
}

func (a authority) issue(file string, template *x509.Certificate) {
	template.KeyUsage = x509.KeyUsageDigitalSignature
	key := newKey()
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	check(err)
	write(file+".crt", "CERTIFICATE", der)
	writeKey(file, key)
}

func template(name string) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	check(err)
	now := time.Now()
	// A machine's clock may have been set back since.
	return &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(0, 1, 0)}
}

func newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	return key
}

func writeKey(name string, key *ecdsa.PrivateKey) {
	der, err := x509.MarshalECPrivateKey(key)
	check(err)
	write(name+".key", "EC PRIVATE KEY", der)
}

func write(file, kind string, der []byte) {
	check(os.WriteFile(filepath.Join(directory, file), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
