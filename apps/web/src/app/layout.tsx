import type { Metadata, Viewport } from 'next';
import localFont from 'next/font/local';
import { headers } from 'next/headers';
import { getLocale, getTranslations } from 'next-intl/server';
import type { ReactNode } from 'react';
import { BASE } from '../messages/base.ts';
import { messagesOf } from '../messages/messages-of.ts';
import { readPagePreview } from '../server/page-preview.ts';
import { Providers } from './providers.tsx';
import './globals.css';

const inter = localFont({
  src: '../../../../node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
  variable: '--font-inter',
  weight: '100 900',
  display: 'swap',
});

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations();
  return { title: { default: 'Slipway', template: '%s · Slipway' }, description: t('app.description') };
}
export const viewport: Viewport = {
  width: 'device-width',
  initialScale: 1,
  themeColor: [
    { media: '(prefers-color-scheme: light)', color: '#fbfbfc' },
    { media: '(prefers-color-scheme: dark)', color: '#0f1013' },
  ],
};

/**
 * Each page is made when it is asked for: app-server gives it a nonce, without which none of its inline scripts runs.
 */
export default async function RootLayout({ children }: { children: ReactNode }) {
  const nonce = (await headers()).get('x-nonce') ?? undefined;
  const locale = await getLocale();
  const { me } = await readPagePreview();
  return (
    <html lang={locale} className={inter.variable} suppressHydrationWarning>
      <body>
        <Providers locale={locale} messages={messagesOf(BASE)} nonce={nonce} me={me}>
          {children}
        </Providers>
      </body>
    </html>
  );
}
