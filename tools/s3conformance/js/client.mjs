// Uses the endpoint through the AWS SDK for JavaScript, as
// gateway/s3/programs_test.go describes. Prints "all good" at its end.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListPartsCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
  paginateListObjectsV2,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";

const Bucket = process.env.BUCKET;
const properOnly = Boolean(process.env.PROPER_KEYS_ONLY);
const client = new S3Client({
  endpoint: process.env.ENDPOINT,
  region: "us-east-1",
  forcePathStyle: true,
  maxAttempts: 1,
});

const put = (Key, Body, more = {}) => client.send(new PutObjectCommand({ Bucket, Key, Body, ...more }));
const get = async (Key, more = {}) => {
  const out = await client.send(new GetObjectCommand({ Bucket, Key, ...more }));
  return Buffer.from(await out.Body.transformToByteArray());
};
const refused = (promise, name) => assert.rejects(promise, (error) => {
  assert.equal(error.name, name);
  return true;
});
const list = async (Prefix, more = {}) => {
  const names = [];
  for await (const page of paginateListObjectsV2({ client, pageSize: 3 }, { Bucket, Prefix, ...more })) {
    for (const object of page.Contents ?? []) names.push(object.Key);
    for (const prefix of page.CommonPrefixes ?? []) names.push(prefix.Prefix);
  }
  return names;
};

await client.send(new HeadBucketCommand({ Bucket }));

// Every checksum that the SDK computes, and a stream, whose checksum trails.
const data = randomBytes(300_000);
for (const ChecksumAlgorithm of ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"]) {
  try {
    await put(`js/${ChecksumAlgorithm}`, data, { ChecksumAlgorithm });
  } catch (error) {
    // CRC64NVME needs a native package that is not always there.
    if (ChecksumAlgorithm !== "CRC64NVME" || error.$metadata?.httpStatusCode) throw error;
    continue;
  }
  assert.deepEqual(await get(`js/${ChecksumAlgorithm}`, { ChecksumMode: "ENABLED" }), data);
}
await put("js/stream", Readable.from([data.subarray(0, 1000), data.subarray(1000)]), { ContentLength: data.length });
assert.deepEqual(await get("js/stream"), data);
await refused(put("js/bad", data, { ChecksumCRC32: "AAAAAA==" }), "BadDigest");
await refused(put("js/bad", data, { ContentMD5: createHash("md5").update("x").digest("base64") }), "BadDigest");

// Ranges, conditions, attributes.
assert.deepEqual(await get("js/stream", { Range: "bytes=10-19" }), data.subarray(10, 20));
assert.deepEqual(await get("js/stream", { Range: "bytes=-7" }), data.subarray(-7));
await refused(get("js/stream", { Range: "bytes=300000-" }), "InvalidRange");
await put("js/meta", "hello", { ContentType: "text/x", Metadata: { colour: "blue" }, IfNoneMatch: "*" });
await refused(put("js/meta", "again", { IfNoneMatch: "*" }), "PreconditionFailed");
const head = await client.send(new HeadObjectCommand({ Bucket, Key: "js/meta" }));
assert.equal(head.ContentType, "text/x");
assert.deepEqual(head.Metadata, { colour: "blue" });
await refused(get("js/meta", { IfMatch: '"other"' }), "PreconditionFailed");
await refused(get("js/missing"), "NoSuchKey");
await put("js/meta", "hello", { IfMatch: head.ETag });

// Multipart.
const Key = "js/multipart";
const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
const Parts = [];
for (const PartNumber of [1, 2]) {
  const part = await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body: data }));
  Parts.push({ PartNumber, ETag: part.ETag, ChecksumCRC32: part.ChecksumCRC32 });
}
assert.equal((await client.send(new ListPartsCommand({ Bucket, Key, UploadId }))).Parts.length, 2);
await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
assert.deepEqual(await get(Key), Buffer.concat([data, data]));
const other = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId: other.UploadId }));

// Copies and presigned URLs.
await client.send(new CopyObjectCommand({ Bucket, Key: "js/copy", CopySource: `${Bucket}/js/stream` }));
assert.deepEqual(await get("js/copy"), data);
const getURL = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: "js/copy" }), { expiresIn: 60 });
assert.deepEqual(Buffer.from(await (await fetch(getURL)).arrayBuffer()), data);
const putURL = await getSignedUrl(client, new PutObjectCommand({ Bucket, Key: "js/presigned put" }), { expiresIn: 60 });
assert.equal((await fetch(putURL, { method: "PUT", body: "" })).status, 200);

// Lists in pages, and odd keys.
let keys = ["100%", "100%25", "a+b c", "ünïcødé/日本語/🎉", "a?b=c&d", "#hash", "~!*'()", "back\\slash", "semi;colon"];
if (!properOnly) keys = keys.concat(["a//b", "a/", "line\nbreak"]);
for (const key of keys) {
  await put(`js-odd/${key}`, key);
  assert.equal((await get(`js-odd/${key}`)).toString(), key);
}
assert.deepEqual((await list("js-odd/")).sort(), keys.map((key) => `js-odd/${key}`).sort());
assert.deepEqual((await list("js", { Delimiter: "/" })).sort(), ["js-odd/", "js/"]);
const deleted = await client.send(new DeleteObjectsCommand({
  Bucket,
  Delete: { Objects: keys.map((key) => ({ Key: `js-odd/${key}` })) },
}));
assert.equal(deleted.Deleted.length, keys.length);
assert.deepEqual(await list("js-odd/"), []);

client.destroy();
console.log("all good");
