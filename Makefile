# What a contributor does most. `make` alone lists it; .ci/run is what a change has to pass.
.DEFAULT_GOAL := help
.PHONY: help demo build test check race docs licenses web release

help: ## list these commands
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: ## a simulated home, with motion within seconds
	go run . demo

build: ## the binary as it is delivered, ./sensegate
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' $$(cat .ci/gcflags) -o sensegate .

test: ## everything that needs nothing but Go
	go test ./...

check: ## formatting and vet, before a commit
	@unformatted=$$(git ls-files '*.go' | xargs gofmt -l); [ -z "$$unformatted" ] || { echo "not formatted: $$unformatted"; exit 1; }
	go vet ./... ./.ci/soak ./.ci/steady

race: ## the tests as CI runs them
	go test -race -shuffle=on -timeout 20m ./...

docs: ## write anew what is generated from code: OpenAPI, the walks, the tables of docs, the phrases of support bundles, and the time zones of the Go release
	go test ./api -update
	go test ./api/app ./api/core ./api/browser -run 'Document|Walk' -update
	go test ./motion -run Documented -update
	go test ./api/box/support -run Phrases -update
	go test ./motion/timezone -run GoRelease -update

licenses: ## docs/licenses.md, from the modules that are linked
	go -C .ci/tools build -o ../bin/licenses ./licenses
	.ci/bin/licenses > docs/licenses.md

web: ## api/web/dist and dist-docs, the web app and the API reference as they are embedded, from their sources
	go -C .ci/web run .

release: ## packages, image, archives and plain programs in .ci/bin/release (docs/install.md; KEY=FILE signs them)
	rm -rf .ci/bin/release
	go -C .ci/release run . $(if $(KEY),-key $(abspath $(KEY)))
