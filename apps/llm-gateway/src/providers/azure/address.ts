import { type Address, below, dialectHeaders, plainHeaders } from '../../wire/address.js';
import type { Dialect } from '../../wire/dialect.js';
import type { Target } from '../../wire/exchange.js';

const PATHS: Readonly<Record<Dialect, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
  embeddings: '/embeddings',
};
/** The last version with a date that is no preview: from then on Azure has one without versions. */
const DATED = '2024-10-21';

/**
 * Azure OpenAI. `https://…/openai/v1` has OpenAI's own paths and finds the deployment in the body; without `/v1` the
 * deployment stands in the path and a version must be named. Responses came when there were no such paths any more.
 */
export const azureAddress: Address = (spoken, asked, target) => ({
  ...below(...placeOf(spoken, target)),
  headers: { ...plainHeaders(asked), ...dialectHeaders(spoken, asked, target), ...keyOf(target.apiKey) },
});

function placeOf(spoken: Dialect, target: Target): [baseUrl: string, path: string] {
  const { baseUrl, apiVersion } = target;
  if (/\/v1$/.test(baseUrl)) return [baseUrl, PATHS[spoken] + (apiVersion === undefined ? '' : query(apiVersion))];
  if (/\/deployments\/[^/]+$/.test(baseUrl)) return [baseUrl, PATHS[spoken] + query(apiVersion ?? DATED)];
  const openai = baseUrl.endsWith('/openai') ? baseUrl : `${baseUrl}/openai`;
  if (spoken === 'responses')
    return apiVersion === undefined ? [`${openai}/v1`, PATHS.responses] : [openai, PATHS.responses + query(apiVersion)];
  return [`${openai}/deployments/${encodeURIComponent(target.model)}`, PATHS[spoken] + query(apiVersion ?? DATED)];
}

function query(apiVersion: string): string {
  return `?api-version=${encodeURIComponent(apiVersion)}`;
}

/** A key of the resource, or a token of Entra. */
function keyOf(key: string | null): Record<string, string> {
  if (key === null) return {};
  return /^eyJ[\w-]+\.[\w-]+\./.test(key) ? { authorization: `Bearer ${key}` } : { 'api-key': key };
}
