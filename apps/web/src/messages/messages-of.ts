import compile from 'icu-minify/compile';
import type { Messages } from 'next-intl';
import { en } from './en/index.ts';
import type { Catalogue } from './translate.ts';

/** Compiled here, so that browsers need no parser. One compilation a process. */
const compiled = new Map<keyof Catalogue, object>();

/** The messages of some features, for a provider. */
export function messagesOf(features: ReadonlyArray<keyof Catalogue>): Partial<Messages> {
  return Object.fromEntries(
    features.map((feature) => {
      const known = compiled.get(feature);
      if (known !== undefined) return [feature, known];
      // Plural forms come without a prototype, which React does not send to a browser.
      const made = JSON.parse(
        JSON.stringify(Object.fromEntries(Object.entries(en[feature]).map(([key, text]) => [key, compile(text)]))),
      ) as object;
      compiled.set(feature, made);
      return [feature, made];
    }),
  );
}
