import { createHash, createHmac } from 'node:crypto';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of a role that was assumed for some hours; `null` for a user's own key. */
  readonly sessionToken: string | null;
}

export interface SignedRequest {
  readonly method: string;
  /** As it stands in the request line, without a query. */
  readonly path: string;
  /**
   * By their names in lower case, `host` among them. All of them are signed: a proxy that changes one breaks the call.
   */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface SigningScope {
  readonly region: string;
  readonly service: string;
}

/**
 * The headers of AWS Signature Version 4 (`authorization`, `x-amz-date`, and the session's token) for one request. AWS
 * takes it for five minutes around `at`, so a clock that is wrong by more is refused by every call.
 */
export function signatureOf(
  request: SignedRequest,
  credentials: AwsCredentials,
  scope: SigningScope,
  at: Date,
): Record<string, string> {
  const time = at.toISOString().replace(/[-:]|\.\d{3}/g, '');
  const day = time.slice(0, 8);
  const added: Record<string, string> = {
    'x-amz-date': time,
    ...(credentials.sessionToken === null ? {} : { 'x-amz-security-token': credentials.sessionToken }),
  };
  const headers = Object.entries({ ...request.headers, ...added }).sort(([one], [other]) => (one < other ? -1 : 1));
  const names = headers.map(([name]) => name).join(';');
  const canonical = [
    request.method,
    canonicalPath(request.path),
    '',
    ...headers.map(([name, value]) => `${name}:${value.trim().replace(/ +/g, ' ')}`),
    '',
    names,
    sha256(request.body),
  ].join('\n');
  const place = `${day}/${scope.region}/${scope.service}/aws4_request`;
  const text = `AWS4-HMAC-SHA256\n${time}\n${place}\n${sha256(canonical)}`;
  const key = [day, scope.region, scope.service, 'aws4_request'].reduce<string | Buffer>(
    hmac,
    `AWS4${credentials.secretAccessKey}`,
  );
  const signature = hmac(key, text).toString('hex');
  return {
    ...added,
    authorization: `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${place}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

/** One path segment in AWS's own encoding: all but letters, digits and `-._~`. */
export function encodeSegment(segment: string): string {
  return encodeURIComponent(segment).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Every service but S3 encodes the path as it was sent once more. */
function canonicalPath(path: string): string {
  return path.split('/').map(encodeSegment).join('/');
}

function sha256(value: string | Buffer): string {
  return createHash('sha256').update(value).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
