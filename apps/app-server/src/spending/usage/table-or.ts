import type { FastifyReply } from 'fastify';

/** The answer itself, or its table where `Accept` names `text/csv`. @param name of the file, without its ending. */
export function tableOr<T>(
  answer: T,
  table: (answer: T) => string,
  { accept, reply, name }: { readonly accept: string | undefined; readonly reply: FastifyReply; readonly name: string },
): T | string {
  void reply.header('vary', 'accept');
  if (!/(^|,)\s*text\/csv\s*(;|,|$)/i.test(accept ?? '')) return answer;
  void reply.header('content-disposition', `attachment; filename="${name}.csv"`).type('text/csv; charset=utf-8');
  return table(answer);
}
