export const dynamic = 'force-dynamic';

/** For probes. */
export function GET(): Response {
  return Response.json({ status: 'ok' });
}
