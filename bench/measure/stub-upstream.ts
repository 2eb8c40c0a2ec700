// A model provider that costs nothing: argv PORT [LATENCY_MS]. POST answers a completion of about 0.4 kB, or with
// "stream":true 21 frames, one a millisecond.
import { createServer } from 'node:http';

const [port = '0', latency = '0'] = process.argv.slice(2);
const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
const completion = Buffer.from(
  JSON.stringify({
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'y'.repeat(200) }, finish_reason: 'stop' }],
    usage,
  }),
);
const frame = (value: unknown): Buffer =>
  Buffer.from(
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', ...(value as object) })}\n\n`,
  );
const token = frame({ choices: [{ index: 0, delta: { content: 'token ' }, finish_reason: null }] });
const last = Buffer.concat([
  frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
  frame({ choices: [], usage }),
  Buffer.from('data: [DONE]\n\n'),
]);

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const answer = (): void => {
      if (!Buffer.concat(parts).includes('"stream":true'))
        return void response
          .writeHead(200, { 'content-type': 'application/json', 'content-length': completion.length })
          .end(completion);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(token);
      let sent = 1;
      const timer = setInterval(() => {
        if (sent < 20) {
          sent += 1;
          response.write(token);
          return;
        }
        clearInterval(timer);
        response.end(last);
      }, 1);
    };
    if (latency === '0') answer();
    else setTimeout(answer, Number(latency));
  });
});
server.keepAliveTimeout = 60_000;
server.listen(Number(port), '127.0.0.1');
