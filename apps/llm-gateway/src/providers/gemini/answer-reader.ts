import { randomUUID } from 'node:crypto';
import { FrameReader } from '../../wire/frame-reader.js';
import { type JsonObject, jsonText, listOf, objectOf, textOf } from '../../wire/json.js';
import type { FinishReason } from '../../wire/turns.js';
import { usageOfGemini } from '../usage.js';

/** Google or the model would not go on. */
const FILTERED = new Set([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'LANGUAGE',
  'MODEL_ARMOR',
]);
/** The answer is worth nothing, and the next may be right. */
const FAILED = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
  'MISSING_THOUGHT_SIGNATURE',
]);

/** `generateContent` and `streamGenerateContent?alt=sse`. */
export class GeminiReader extends FrameReader {
  private id: string | null = null;
  private calls = 0;
  /** The caller has got something of the answer. */
  private said = false;
  /** Older models say `STOP` in every piece: only the end of the stream makes it true. */
  private reason: string | null = null;

  protected frame(frame: JsonObject): void {
    const error = objectOf(frame['error']);
    if (error === null) this.piece(frame);
    else this.fail({ message: error['message'], code: error['code'], type: error['status'] });
  }

  protected answer(answer: JsonObject): boolean {
    if (!this.piece(answer)) return false;
    this.reason ??= 'STOP';
    this.ended();
    return true;
  }

  /** `false`: it is nothing of an answer. */
  private piece(piece: JsonObject): boolean {
    const candidate = objectOf(listOf(piece['candidates'])[0]);
    const feedback = objectOf(piece['promptFeedback']);
    if (candidate === null && feedback === null && piece['usageMetadata'] === undefined) return false;
    if (this.id === null) {
      this.id = idOf(piece['responseId']);
      this.emit({ kind: 'start', id: this.id, model: textOf(piece['modelVersion']) ?? '' });
    }
    // Said again in every piece.
    this.count(usageOfGemini(piece['usageMetadata']));
    for (const part of listOf(objectOf(candidate?.['content'])?.['parts'])) this.part(objectOf(part) ?? {});
    const reason = textOf(candidate?.['finishReason']);
    if (reason !== null && reason !== 'FINISH_REASON_UNSPECIFIED') this.stop(reason);
    const blocked = textOf(feedback?.['blockReason']);
    if (blocked !== null)
      this.block(`Gemini blocked the prompt: ${blocked}. ${textOf(feedback?.['blockReasonMessage']) ?? ''}`.trim());
    return true;
  }

  protected ended(): void {
    if (this.reason !== null) this.emit({ kind: 'finish', reason: this.meaningOf(this.reason), stopSequence: null });
  }

  private stop(reason: string): void {
    this.reason = reason;
    if (FAILED.has(reason)) this.fail({ message: `Gemini ended its answer: ${reason}.`, type: 'malformed_answer' });
    else if (FILTERED.has(reason) && !this.said) this.block(`Gemini blocked its answer: ${reason}.`);
  }

  private part(part: JsonObject): void {
    const signature = textOf(part['thoughtSignature']) || null;
    const call = objectOf(part['functionCall']);
    if (call !== null) {
      this.call(call, signature);
      return;
    }
    const text = textOf(part['text']) ?? '';
    if (text !== '') {
      this.said = true;
      this.emit({ kind: part['thought'] === true ? 'thinking' : 'text', text });
    }
    if (signature !== null) this.emit({ kind: 'signature', signature });
  }

  private call(call: JsonObject, signature: string | null): void {
    const number = this.calls;
    this.calls += 1;
    this.said = true;
    // Models before the third generation give their calls no ids.
    const id = textOf(call['id']) || `call_${this.id ?? ''}_${number}`;
    this.emit({
      kind: 'tool-begin',
      call: number,
      id,
      name: textOf(call['name']) ?? '',
      ...(signature === null ? {} : { signature }),
    });
    this.emit({ kind: 'tool-arguments', call: number, text: jsonText(call['args'] ?? {}) ?? '{}' });
    this.emit({ kind: 'tool-end', call: number });
  }

  private meaningOf(reason: string): FinishReason {
    if (FILTERED.has(reason)) return 'filter';
    if (reason === 'MAX_TOKENS') return 'length';
    return this.calls > 0 ? 'tool-calls' : 'stop';
  }

  private block(message: string): void {
    this.fail({ message, code: 'content_policy_violation', type: 'content_policy' });
  }
}

/** Part of the ids of its calls, so without what other providers do not take in one. */
function idOf(value: unknown): string {
  const id = (textOf(value) ?? '').replace(/[^A-Za-z0-9_-]/g, '');
  return id === '' ? randomUUID().replaceAll('-', '').slice(0, 24) : id.slice(0, 24);
}
