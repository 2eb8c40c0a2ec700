import { objectOf, parseObject, textOf } from '../../wire/json.js';
import type { PlainRefusal, Refusal } from '../refusal.js';

/** Azure's own layers have three shapes for an error; what its filters found is named, since the message does not. */
export function azureRefusal({ status, headers, body }: Refusal): PlainRefusal {
  const value = parseObject(body);
  const error = objectOf(value?.['error']) ?? value ?? {};
  const inner = objectOf(error['innererror']) ?? objectOf(error['inner_error']);
  const filtered = error['code'] === 'content_filter' || inner?.['code'] === 'ResponsibleAIPolicyViolation';
  const found = filtered ? filtersOf(inner?.['content_filter_result'] ?? inner?.['content_filter_results']) : [];
  const message = `${textOf(error['message']) ?? ''}${found.length === 0 ? '' : ` (${found.join(', ')})`}`;
  const milliseconds = Number(headers['retry-after-ms']);
  return {
    status,
    error: { message, code: filtered ? 'content_filter' : codeOf(error['code']), type: error['type'] },
    ...(milliseconds > 0 ? { retryAfter: String(Math.ceil(milliseconds / 1000)) } : {}),
  };
}

function codeOf(code: unknown): unknown {
  return code === 'DeploymentNotFound' ? 'model_not_found' : code;
}

/** Names of the filters that struck. */
function filtersOf(results: unknown): string[] {
  return Object.entries(objectOf(results) ?? {})
    .filter(([, result]) => objectOf(result)?.['filtered'] === true)
    .map(([name]) => name)
    .slice(0, 10);
}
