package api_test

import (
	"testing"
	"testing/fstest"

	"github.com/getkin/kin-openapi/openapi3"

	"sensegate/api"
	"sensegate/api/sampletest"
)

func withTexts(files map[string]string) api.Interface {
	i := sampletest.Interface(sampletest.NoLive())
	texts := fstest.MapFS{}
	for name, text := range files {
		texts[name] = &fstest.MapFile{Data: []byte(text)}
	}
	i.Texts = texts
	return i
}

const deviceText = "For who reads the file.\n\n## PUT /device\n\nReplaces **all** of it.\n\n" +
	"```json request\n{\"name\": \"a\", \"rank\": 3}\n```\n```json response\n{\"name\": \"b\"}\n```\n\nMore.\n" +
	"\n## GET /whoami\n\nA plain block stays:\n```json\n{}\n```\n"

func TestTextsStandInTheDocument(t *testing.T) {
	t.Parallel()
	raw, err := withTexts(map[string]string{"a.md": deviceText, "b.md": "## GET /fail\nFails.\n", "c.txt": "## GET /nothing\n"}).Document()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		t.Fatal(err)
	}
	put := doc.Paths.Find("/device").Put
	if want := "Replaces **all** of it.\n\nMore.\n\nMay be called by: anyone."; put.Description != want {
		t.Errorf("description %q, want %q", put.Description, want)
	}
	request, _ := put.RequestBody.Value.Content["application/json"].Example.(map[string]any)
	response, _ := put.Responses.Value("200").Value.Content["application/json"].Example.(map[string]any)
	if request["rank"] != 3.0 || response["name"] != "b" {
		t.Errorf("examples %v, %v", request, response)
	}
	if got := doc.Paths.Find("/whoami").Get.Description; got != "A plain block stays:\n```json\n{}\n```\n\nMay be called by: core key." {
		t.Errorf("description %q", got)
	}
}

func TestWrongTextsMakeNoDocument(t *testing.T) {
	t.Parallel()
	const heading = "## PUT /device\n"
	for name, text := range map[string]string{
		"no such row":         "## GET /nothing\n",
		"other method":        "## POST /device\n",
		"two sections":        heading + "\n" + heading,
		"not JSON":            heading + "```json request\n{\n```\n",
		"no end":              heading + "```json request\n{}\n",
		"two requests":        heading + "```json request\n{}\n```\n```json request\n{}\n```\n",
		"body of a GET":       "## GET /whoami\n```json request\n{}\n```\n",
		"answer without body": "## DELETE /alert/{uuid}\n```json response\n{}\n```\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := withTexts(map[string]string{"a.md": text}).Document(); err == nil {
				t.Error("the text was accepted")
			}
		})
	}
}
