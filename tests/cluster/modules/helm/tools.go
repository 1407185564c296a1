//go:build tools

// Package helm pins the program that installs our chart in the tests.
package helm

import _ "helm.sh/helm/v3/cmd/helm"
