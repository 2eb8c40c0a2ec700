export const dynamic = 'force-dynamic';

/** For probes. Pages need nothing but this process. */
export function GET(): Response {
  return Response.json({ status: 'ready' });
}
