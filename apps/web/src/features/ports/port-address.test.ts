import { describe, expect, it } from '@jest/globals';
import { t } from '../../messages/testing.ts';
import { portName, readPortAddress, USUAL_PORTS } from './port-address.ts';

describe('readPortAddress', () => {
  it('takes what people type and what dev servers print', () => {
    for (const [text, port, path] of [
      ['5173', 5173, '/'],
      ['  :5173 ', 5173, '/'],
      ['localhost:3000', 3000, '/'],
      ['http://localhost:5173/', 5173, '/'],
      ['https://127.0.0.1:8443/a/b?c=d#e', 8443, '/a/b?c=d#e'],
      ['http://0.0.0.0:8080', 8080, '/'],
      ['http://[::1]:4321/x', 4321, '/x'],
      ['http://[::]:4321', 4321, '/'],
      ['8000/health', 8000, '/health'],
      ['3000?q=1', 3000, '/?q=1'],
      ['vscode', 60001, '/'],
      ['Work-1/x', 12000, '/x'],
    ] as const)
      expect([text, readPortAddress(t, text)]).toEqual([text, { port, path }]);
  });

  it('says in a sentence what is wrong with everything else', () => {
    for (const [text, words] of [
      ['', 'Enter a port'],
      ['port', 'Enter a port'],
      ['http://localhost', 'Enter a port'],
      ['http://evil.example:3000/', 'Enter a port'],
      ['3000 4000', 'Enter a port'],
      ['22', '1024 to 65535'],
      ['0', '1024 to 65535'],
      ['70000', '1024 to 65535'],
      ['08080', '1024 to 65535'],
      ['8001', 'is reserved by the sandbox'],
      [`3000/${'x'.repeat(2000)}`, 'longer than 2000'],
    ] as const)
      expect([text, readPortAddress(t, text)]).toEqual([text, expect.stringContaining(words)]);
  });

  it('suggests no port that is the sandbox’s own', () => {
    expect(USUAL_PORTS.map((port) => [readPortAddress(t, String(port)), portName(port)])).toEqual(
      USUAL_PORTS.map((port) => [{ port, path: '/' }, null]),
    );
    expect([8000, 60001].map(portName)).toEqual(['agent-server', 'VS Code']);
  });
});
