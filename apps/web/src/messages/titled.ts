import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import type { MessageKey } from './translate.ts';

type Title = Extract<MessageKey, `${'app' | 'common'}.${string}`>;

/** A page's `generateMetadata`: its title, in the reader's language. */
export const titled = (key: Title) => async (): Promise<Metadata> => ({ title: (await getTranslations())(key) });
