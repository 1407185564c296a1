//go:build tools

// Package etcd pins the store behind the API server of the tests.
package etcd

import _ "go.etcd.io/etcd/server/v3"
