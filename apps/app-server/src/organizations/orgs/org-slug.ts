import { randomInt } from 'node:crypto';
import { RESERVED_SLUGS } from '@slipway/contracts/organizations';

const MAX_LENGTH = 40;

/**
 * An organization's name as its address: lower case, ASCII, at most 40 characters. A name without a Latin letter or
 * digit gives `org`.
 */
export function slugOfName(name: string): string {
  const slug = cut(
    name
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, ''),
    MAX_LENGTH,
  );
  return slug.length < 2 ? `org${slug === '' ? '' : `-${slug}`}` : slug;
}

/**
 * Addresses to try in turn for one that is wanted: itself unless it is reserved, then with a number, then with a random
 * free one.
 */
export function slugCandidates(wanted: string): string[] {
  const numbers = [
    ...Array.from({ length: 8 }, (_, index) => index + 2),
    randomInt(1_000, 10_000),
    randomInt(100_000, 1_000_000),
    randomInt(10_000_000, 100_000_000),
  ];
  return [
    ...(RESERVED_SLUGS.has(wanted) ? [] : [wanted]),
    ...numbers.map((number) => `${cut(wanted, MAX_LENGTH - 1 - String(number).length)}-${number}`),
  ];
}

function cut(slug: string, length: number): string {
  return slug.slice(0, length).replace(/-+$/, '');
}
