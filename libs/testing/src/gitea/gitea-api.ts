/** What Gitea refused, with its own words. */
export class GiteaRefusal extends Error {
  override readonly name = 'GiteaRefusal';

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

const CALL_MS = 30_000;

/** Gitea's API (`/api/v1`) with one `authorization`. */
export class GiteaApi {
  constructor(
    /** Of the server, without a slash at its end. */
    readonly url: string,
    private readonly authorization: string,
  ) {}

  /**
   * @param path below `/api/v1`. @returns the parsed answer; `undefined` when it is empty.
   * @throws GiteaRefusal for every answer that is not 2xx.
   */
  async call<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: {
        authorization: this.authorization,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      signal: AbortSignal.timeout(CALL_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok)
      throw new GiteaRefusal(
        response.status,
        `${method} ${path} was answered ${response.status}: ${text.slice(0, 1_000)}`,
      );
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }
}
