import { ProviderRefusal } from './provider-refusal.js';

/** Of the log of a job: a failure is at its end. Bytes. */
export const MAX_CHECK_LOG = 24 * 1024;

/** Logs end after some weeks, and not every token may read them. */
export async function orNoLog<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (
      error instanceof ProviderRefusal &&
      (error.kind === 'missing' || error.kind === 'forbidden' || error.kind === 'unreadable')
    )
      return null;
    throw error;
  }
}
