import type { en } from './en/index.ts';

declare module 'next-intl' {
  interface AppConfig {
    Locale: 'en';
    Messages: { readonly [Feature in keyof typeof en]: { readonly [Key in keyof (typeof en)[Feature]]: string } };
  }
}
