package s3_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/objectstore/memory"
)

func TestPagesOfOtherSitesMayDoWhatTheBucketSays(t *testing.T) {
	kept := make(map[string][]byte)
	e := start(t, memory.New(nil), s3.Options{
		CORSOrigins: []string{"https://everywhere.example"},
		SaveCORS: func(_ context.Context, bucket string, text []byte) error {
			kept[bucket] = text
			return nil
		},
		LoadCORS: func(_ context.Context, bucket string) ([]byte, error) { return kept[bucket], nil },
	})
	ask := func(method, origin, wanted string) (int, string) {
		t.Helper()
		r := plain(t, e, method, "/"+testBucket+"/key", nil, "Origin", origin, "Access-Control-Request-Method", wanted)
		a := do(t, r)
		return a.status, a.header.Get("Access-Control-Allow-Origin")
	}
	if status, origin := ask(http.MethodOptions, "https://everywhere.example", "PUT"); status != 200 || origin != "https://everywhere.example" {
		t.Errorf("by the options: %d, %q", status, origin)
	}
	c := e.client()
	put := &awss3.PutBucketCorsInput{Bucket: aws.String(testBucket), CORSConfiguration: &types.CORSConfiguration{CORSRules: []types.CORSRule{
		{AllowedOrigins: []string{"https://*.site.example"}, AllowedMethods: []string{"GET"}, ID: aws.String("one")},
	}}}
	if _, err := c.PutBucketCors(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	got, err := c.GetBucketCors(t.Context(), &awss3.GetBucketCorsInput{Bucket: put.Bucket})
	if err != nil || len(got.CORSRules) != 1 || aws.ToString(got.CORSRules[0].ID) != "one" {
		t.Errorf("it comes back as %+v, %v", got, err)
	}
	for _, test := range []struct {
		method, origin, wanted string
		status                 int
		want                   string
	}{
		{http.MethodOptions, "https://a.site.example", "GET", 200, "https://a.site.example"},
		{http.MethodOptions, "https://a.site.example", "PUT", 403, ""},
		{http.MethodOptions, "https://everywhere.example", "PUT", 403, ""},
		{http.MethodOptions, "", "GET", 400, ""},
		// A page can read why its request is refused, when it may ask at all.
		{http.MethodGet, "https://a.site.example", "", 403, "https://a.site.example"},
		{http.MethodGet, "https://other.example", "", 403, ""},
	} {
		if status, origin := ask(test.method, test.origin, test.wanted); status != test.status || origin != test.want {
			t.Errorf("%+v: %d, %q", test, status, origin)
		}
	}
	if _, err := c.DeleteBucketCors(t.Context(), &awss3.DeleteBucketCorsInput{Bucket: put.Bucket}); err != nil {
		t.Fatal(err)
	}
	if status, _ := ask(http.MethodOptions, "https://everywhere.example", "PUT"); status != 200 {
		t.Errorf("after it was deleted: %d", status)
	}
}

func TestCORSIsOffUnlessSomebodyTurnsItOn(t *testing.T) {
	e := start(t, memory.New(nil), s3.Options{})
	a := do(t, plain(t, e, http.MethodOptions, "/"+testBucket+"/key", nil, "Origin", "https://a.example", "Access-Control-Request-Method", "GET"))
	if a.status != http.StatusForbidden || a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%d, %v", a.status, a.header)
	}
	_, err := e.client().PutBucketCors(t.Context(), &awss3.PutBucketCorsInput{Bucket: aws.String(testBucket), CORSConfiguration: &types.CORSConfiguration{CORSRules: []types.CORSRule{
		{AllowedOrigins: []string{"*"}, AllowedMethods: []string{"GET"}},
	}}})
	if codeOf(err) != "NotImplemented" {
		t.Errorf("a configuration that nobody would keep: %v", err)
	}
}
