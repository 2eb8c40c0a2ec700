import { getRequestConfig } from 'next-intl/server';
import { messagesOf } from './messages-of.ts';

/** What the server translates by itself: the titles of pages. One language needs no routing. */
export default getRequestConfig(async () => ({
  locale: 'en',
  timeZone: 'UTC',
  messages: messagesOf(['app', 'common']),
}));
