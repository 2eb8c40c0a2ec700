import { SlipwayError } from '@slipway/errors';
import type { Target } from '../../wire/exchange.js';
import type { JsonObject } from '../../wire/json.js';
import type { ProviderFormat, WrittenRequest } from '../format.js';
import { BedrockReader } from './answer-reader.js';
import { embeddingFamilyOf } from './embeddings.js';
import { type AwsCredentials, encodeSegment, signatureOf } from './request-signature.js';
import { converseRequest } from './write-request.js';

const SERVICE = 'bedrock';

/** Bedrock's Converse. @param now when a request is signed; AWS refuses a signature of another time. */
export function bedrockFormat(now: () => Date): ProviderFormat {
  return {
    signedBy: 'anthropic',
    streams: /^application\/vnd\.amazon\.eventstream\b/i,
    write: (request, target, callers) =>
      signed(target, {
        verb: request.stream ? 'converse-stream' : 'converse',
        accept: request.stream ? 'application/vnd.amazon.eventstream' : 'application/json',
        said: converseRequest(request, target, callers['anthropic-beta']),
        now,
      }),
    read: (target) => new BedrockReader(target.model),
    embed: (request, target) => {
      const family = embeddingFamilyOf(target.model);
      return family === null
        ? null
        : {
            written: signed(target, { verb: 'invoke', accept: 'application/json', said: family.write(request), now }),
            read: family.read,
          };
    },
  };
}

interface SignedCall {
  readonly verb: string;
  readonly accept: string;
  readonly said: JsonObject;
  readonly now: () => Date;
}

function signed(target: Target, { verb, accept, said, now }: SignedCall): WrittenRequest {
  const { origin, host, pathname } = new URL(target.baseUrl);
  const path = `${pathname.replace(/\/+$/, '')}/model/${encodeSegment(target.model)}/${verb}`;
  const body = Buffer.from(JSON.stringify(said));
  const sent = { 'content-type': 'application/json', host };
  const credentials = credentialsOf(target.apiKey);
  const proof: Record<string, string> =
    credentials !== null
      ? signatureOf(
          { method: 'POST', path, headers: sent, body },
          credentials,
          { region: regionOf(target, host), service: SERVICE },
          now(),
        )
      : target.apiKey === null
        ? {}
        : { authorization: `Bearer ${target.apiKey}` };
  return { origin, path, headers: { 'content-type': sent['content-type'], accept, ...proof }, body };
}

/** `id:secret[:token]`; `null` for a key of Bedrock's own, which has no colon. */
function credentialsOf(key: string | null): AwsCredentials | null {
  const [accessKeyId, secretAccessKey, ...token] = (key ?? '').split(':');
  if (accessKeyId === undefined || secretAccessKey === undefined) return null;
  return { accessKeyId, secretAccessKey, sessionToken: token.length === 0 ? null : token.join(':') };
}

function regionOf(target: Target, host: string): string {
  const region = target.region ?? /^bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.amazonaws\.com/.exec(host)?.[1];
  if (region === undefined)
    throw new SlipwayError(
      'config.invalid',
      `The deployment of ${target.model} has no region, and its address names none.`,
    );
  return region;
}
