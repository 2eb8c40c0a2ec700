import type { useTranslations } from 'next-intl';
import type { en } from './en/index.ts';

/** The catalogue's shape. Another language has the same keys. */
export type Catalogue = typeof en;

/** What `useTranslations()` gives: typed by key, with the arguments that its message names. */
export type Translate = ReturnType<typeof useTranslations<never>>;

/** Keys of messages without arguments, for tables that name a message and leave the translation to a component. */
export type MessageKey = {
  [Feature in keyof Catalogue]: {
    [Key in keyof Catalogue[Feature] & string]: Catalogue[Feature][Key] extends `${string}${'{' | '<'}${string}`
      ? never
      : `${Feature}.${Key}`;
  }[keyof Catalogue[Feature] & string];
}[keyof Catalogue];

export interface Option<Value extends string = string> {
  readonly value: Value;
  readonly label: MessageKey;
}

/** Choices of a select, with their labels in the reader's language. */
export function translated<Value extends string>(
  t: Translate,
  options: ReadonlyArray<Option<Value>>,
): Array<{ value: Value; label: string }> {
  return options.map(({ value, label }) => ({ value, label: t(label) }));
}
