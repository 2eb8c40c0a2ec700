module slipway.dev/tools/lab

go 1.26.0
