// A receiver that costs nothing: argv PORT [LATENCY_MS]. It answers every request with 200 and `{}`, and reads no body.
import { createServer } from 'node:http';

const [port = '0', latency = '0'] = process.argv.slice(2);
createServer((request, response) => {
  request.resume().on('end', () => {
    const answer = (): void => void response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    // Who waits for it to listen asks for `/`.
    if (request.url === '/' || latency === '0') answer();
    else setTimeout(answer, Number(latency));
  });
}).listen(Number(port), '127.0.0.1');
