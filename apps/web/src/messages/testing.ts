import { createTranslator } from 'next-intl';
import { en } from './en/index.ts';
import type { Translate } from './translate.ts';

/** English, for tests of functions that take a `Translate`. */
export const t: Translate = createTranslator({ locale: 'en', messages: en });
