import { z } from 'zod';

const Email = z.email().max(254);

/** An address as it is compared: without space around it, in lower case. `null` when it is none. */
export function normalEmail(text: string): string | null {
  const email = Email.safeParse(text.trim().toLowerCase());
  return email.success ? email.data : null;
}

/** Enough to recognize one's own address by, and no more: `a…@example.com`. */
export function maskEmail(email: string): string {
  return email.replace(/^(.)[^@]*/u, '$1…');
}
