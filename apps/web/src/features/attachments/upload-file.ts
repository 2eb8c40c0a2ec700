import { uploadUrls } from '@slipway/api-client';
import type { Attachment } from '@slipway/contracts/conversations';
import { type Failure, failureOfCode } from '../../api/failure.ts';

export interface FileToUpload {
  readonly org: string;
  /** `null`: the file is for the task of a new one. */
  readonly conversation: string | null;
  /** The same key again is the same file. */
  readonly key: string;
  readonly name: string;
  readonly content: Blob;
}

/** A failure of an upload, as a user reads it. */
export class UploadFailure extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.title);
    this.failure = failure;
  }
}

/**
 * Sends a file, with its progress from 0 to 1. By XMLHttpRequest: `fetch` does not say how much has been sent.
 * @throws UploadFailure, or the signal's reason.
 */
export function uploadFile(
  { org, conversation, key, name, content }: FileToUpload,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<Attachment> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const fail = (code: string, detail?: string): void => reject(new UploadFailure(failureOfCode(code, detail)));
    request.open(
      'POST',
      conversation === null
        ? uploadUrls.uploadTaskAttachment({ org, query: { name } })
        : uploadUrls.uploadAttachment({ org, conversation, query: { name } }),
    );
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.setRequestHeader('idempotency-key', key);
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total);
    request.onerror = () => fail('service.unavailable');
    request.onabort = () => reject(signal.reason);
    request.onload = () => {
      const isStored = request.status >= 200 && request.status < 300 && request.response !== null;
      if (isStored) return resolve(request.response as Attachment);
      const { code, detail } = (request.response ?? {}) as { code?: unknown; detail?: unknown };
      fail(typeof code === 'string' ? code : 'service.unavailable', typeof detail === 'string' ? detail : undefined);
    };
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(content);
  });
}
