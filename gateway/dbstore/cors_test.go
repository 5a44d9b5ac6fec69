package dbstore_test

import (
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/stardustdb/stardust/gateway/s3"
)

func TestABucketKeepsItsCORSConfigurationInTheDatabase(t *testing.T) {
	db := openDB(t)
	c := serve(t, db, s3.Options{})
	if _, err := c.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: aws.String("bucket")}); err != nil {
		t.Fatal(err)
	}
	get := &awss3.GetBucketCorsInput{Bucket: aws.String("bucket")}
	if _, err := c.GetBucketCors(t.Context(), get); codeOf(err) != "NoSuchCORSConfiguration" {
		t.Errorf("before: %v", err)
	}
	rules := []types.CORSRule{{AllowedOrigins: []string{"https://a.example"}, AllowedMethods: []string{http.MethodGet}}}
	if _, err := c.PutBucketCors(t.Context(), &awss3.PutBucketCorsInput{Bucket: get.Bucket, CORSConfiguration: &types.CORSConfiguration{CORSRules: rules}}); err != nil {
		t.Fatal(err)
	}
	// Another handler stands for the process after a restart.
	got, err := serve(t, db, s3.Options{}).GetBucketCors(t.Context(), get)
	if err != nil || len(got.CORSRules) != 1 || got.CORSRules[0].AllowedOrigins[0] != "https://a.example" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := c.DeleteBucketCors(t.Context(), &awss3.DeleteBucketCorsInput{Bucket: get.Bucket}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.GetBucketCors(t.Context(), get); codeOf(err) != "NoSuchCORSConfiguration" {
		t.Errorf("after: %v", err)
	}
	put := &awss3.PutBucketCorsInput{Bucket: aws.String("missing"), CORSConfiguration: &types.CORSConfiguration{CORSRules: rules}}
	if _, err := c.PutBucketCors(t.Context(), put); codeOf(err) != "NoSuchBucket" {
		t.Errorf("a missing bucket: %v", err)
	}
}
