import type { z } from 'zod';
import type { Translate } from '../messages/translate.ts';

/**
 * What a schema says is wrong. A key of a record that is not to its liking says why only within; of a value with
 * several forms the first form says it.
 */
export function wordsOfIssue(issue: z.core.$ZodIssue): string {
  const within =
    issue.code === 'invalid_key' ? issue.issues[0] : issue.code === 'invalid_union' ? issue.errors[0]?.[0] : undefined;
  return within?.message ?? issue.message;
}

/** What a schema says of a field, as a sentence for who typed into it. */
export function sentenceOf(t: Translate, message: string): string {
  if (message === 'Invalid URL') return t('problems.enterTheFullUrlSuch');
  if (/^Too small: expected string to have >=1 /.test(message)) return t('problems.thisMustNotBeEmpty');
  if (/^Too small: expected array to have >=1 /.test(message)) return t('problems.chooseAtLeastOne');
  if (message === 'Invalid input: expected int, received number') return t('problems.thisIsNotAWholeNumber');
  if (/^Invalid input: expected (number|int)/.test(message)) return t('problems.thisIsNotANumber');
  const bound = /^Too (small|big): expected (?:number|int) to be [<>]=?(\S+)$/.exec(message);
  if (bound !== null)
    return t(bound[1] === 'small' ? 'problems.atLeast' : 'problems.atMost', { bound: bound[2] ?? '' });
  if (message === 'Invalid email address') return t('problems.thisIsNotAnEmail');
  const sentence = /^(is|must|needs|names) /.test(message)
    ? t('problems.this', { message })
    : message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
