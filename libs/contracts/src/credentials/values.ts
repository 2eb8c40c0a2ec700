import type { CredentialUse } from './uses.js';

/** Whether a credential of this use keeps a value. */
export function takesValue(use: CredentialUse): boolean {
  return use.form !== 'workload-token';
}

/** What is wrong with a value for its use, as a part of a sentence; `null`: nothing. */
export function problemOfValue(use: CredentialUse, value: string): string | null {
  if (!takesValue(use)) return 'is not used with this form: nothing is kept';
  return /[\r\n]/.test(value) ? 'is one line' : null;
}
