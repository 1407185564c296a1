//go:build tools

// Package helm4 pins the newest major version of the program that installs our chart in the tests.
package helm4

import _ "helm.sh/helm/v4/cmd/helm"
