import { type OtlpReceiver, OtlpSender } from './otlp-sender.js';
import { TraceExport, type TraceExportOptions } from './trace-export.js';

/** Sends traces to `receiver` until it is closed. */
export function startTraceExport(
  receiver: OtlpReceiver,
  options: Omit<TraceExportOptions, 'send'>,
): { close(): Promise<void> } {
  const sender = new OtlpSender(receiver);
  const traces = new TraceExport({ ...options, send: (spans) => sender.send(spans) });
  traces.start();
  return {
    close: async () => {
      await traces.close();
      await sender.close();
    },
  };
}
