import type { z } from 'zod';

/** What a schema says is wrong. A key of a record that is not to its liking says why only within; of a value with several forms the first form says it. */
export function wordsOfIssue(issue: z.core.$ZodIssue): string {
  const within = issue.code === 'invalid_key' ? issue.issues[0] : issue.code === 'invalid_union' ? issue.errors[0]?.[0] : undefined;
  return within?.message ?? issue.message;
}

/** What a schema says of a field, as a sentence for who typed into it. */
export function sentenceOf(message: string): string {
  if (message === 'Invalid URL') return 'Give the whole address, such as https://github.com/owner/name.';
  if (/^Too small: expected string to have >=1 /.test(message)) return 'This must not be empty.';
  if (/^Too small: expected array to have >=1 /.test(message)) return 'Choose at least one.';
  if (/^Invalid input: expected (number|int)/.test(message)) return 'This is not a number.';
  const bound = /^Too (small|big): expected (?:number|int) to be [<>]=?(\S+)$/.exec(message);
  if (bound !== null) return `This must be at ${bound[1] === 'small' ? 'least' : 'most'} ${bound[2]}.`;
  if (message === 'Invalid email address') return 'This is not an e-mail address.';
  const sentence = /^(is|must|needs|names) /.test(message) ? `This ${message}` : message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
