/** A delivery as it came: nothing in it is believed before `verifySignature` has said so. */
export interface Delivery {
  /** Names in small letters; a header that came twice has each of its values. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Exactly the bytes that were sent. */
  readonly raw: Buffer;
}

/** A delivery whose signature holds, read. */
export interface ReadDelivery {
  readonly headers: Delivery['headers'];
  /** JSON, or what a form carried in its one field `payload`. */
  readonly body: unknown;
}

/** One header's value; `undefined` where it is missing or came more than once. */
export function headerOf(delivery: { readonly headers: Delivery['headers'] }, name: string): string | undefined {
  const value = delivery.headers[name];
  return typeof value === 'string' ? value : value?.length === 1 ? value[0] : undefined;
}
