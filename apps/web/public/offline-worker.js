/* Answers a navigation that finds no server with a page of our own. Keeps nothing: what is shown is what the server says, or that it does not answer. */
const PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>No connection · Slipway</title>
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem}a{color:#2f55d4;display:inline-block;padding:10px 0}@media(prefers-color-scheme:dark){body{background:#0f1013;color:#ecedf0}a{color:#8aa6ff}}</style></head>
<body><main><h1>Slipway cannot be reached</h1>
<p>You are offline, or the server does not answer. Agents keep working, and what you wrote in this browser is kept. This page opens again when the connection is back.</p>
<p><a href="">Try again</a></p></main><script src="/offline-page.js"></script></body></html>`;
const SCRIPT = "addEventListener('online', () => location.reload());";
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const answer = (body, type, status) =>
  new Response(body, {
    status,
    headers: { 'content-type': `${type}; charset=utf-8`, 'content-security-policy': POLICY },
  });

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) =>
  event.waitUntil(Promise.all([self.clients.claim(), self.registration.navigationPreload?.enable()])),
);
self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (new URL(request.url).pathname === '/offline-page.js')
    return event.respondWith(answer(SCRIPT, 'text/javascript', 200));
  if (request.mode !== 'navigate' || request.method !== 'GET') return;
  event.respondWith(
    (async () => {
      try {
        return (await event.preloadResponse) ?? (await fetch(request));
      } catch {
        return answer(PAGE, 'text/html', 503);
      }
    })(),
  );
});
