import { type ApiClientOptions, createCaller } from './call.js';
import { type Operations, operationsOf } from './generated.js';

export { type ApiClientOptions, ApiError, type CallOptions } from './call.js';
export { downloadUrls, type Operations, uploadUrls } from './generated.js';

export type ApiClient = Operations;

/**
 * One function for each operation of `libs/contracts/src/operations/list.ts`, typed by its schemas. Responses are not
 * parsed again: the server has. Fields that an older server does not send have the default of their schema.
 */
export function createApiClient(options: ApiClientOptions): ApiClient {
  return operationsOf(options.baseUrl ?? '', createCaller(options));
}
