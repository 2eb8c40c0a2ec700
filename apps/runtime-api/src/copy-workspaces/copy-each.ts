/** Copied at once. Each is one stream; a store answers some hundred requests a second. */
const AT_ONCE = 4;

export interface CopyResult {
  readonly copied: number;
  readonly bytes: number;
  /** Names of what is not whole in the target. */
  readonly failed: readonly string[];
}

export interface Copying<T> {
  readonly nameOf: (item: T) => string;
  /** @returns bytes; `null`: there was nothing to copy. */
  readonly copy: (item: T, signal: AbortSignal) => Promise<number | null>;
  /** Longest for one. Milliseconds. */
  readonly timeoutMs: number;
  readonly onCopied?: (name: string, bytes: number) => void;
  /** A line for each that cannot be copied. */
  readonly log: (line: string) => void;
}

/**
 * Copies each of what one store has, some at once. What cannot be copied is named, and the others are copied all the
 * same. @throws what `items` rejects with, and the signal's reason.
 */
export async function copyEach<T>(
  items: AsyncIterable<T>,
  { nameOf, copy, timeoutMs, onCopied, log }: Copying<T>,
  signal: AbortSignal,
): Promise<CopyResult> {
  const failed: string[] = [];
  let [copied, bytes] = [0, 0];
  const next = items[Symbol.asyncIterator]();
  const worker = async (): Promise<void> => {
    for (let item = await next.next(); item.done !== true; item = await next.next()) {
      const name = nameOf(item.value);
      try {
        const size = await copy(item.value, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
        if (size === null) continue;
        copied += 1;
        bytes += size;
        onCopied?.(name, size);
      } catch (error) {
        signal.throwIfAborted();
        failed.push(name);
        log(`failed to copy ${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { copied, bytes, failed: failed.sort() };
}
