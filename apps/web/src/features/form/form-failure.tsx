import { Notice } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { type Failure, failureOf } from '../../api/failure.ts';

/** What the server refused, in words, next to the button that was pressed. Nothing when nothing was refused. */
export function FormFailure({ failure }: { failure: Failure | null }) {
  const t = useTranslations();
  if (failure === null) return null;
  return (
    <Notice tone="bad" title={failure.title}>
      <p>
        {[failure.detail, failure.nextStep, ...failure.fields.map((field) => `${field.path}: ${field.message}`)]
          .filter(Boolean)
          .join(' ')}
      </p>
      {failure.requestId ? (
        <p className="text-xs text-ink-muted">
          {t.rich('form.requestId', {
            requestId: failure.requestId,
            code: (chunks) => <code className="font-mono select-all">{chunks}</code>,
          })}
        </p>
      ) : null}
    </Notice>
  );
}

/** The same of whatever a mutation threw. */
export function ErrorNotice({ error }: { error: unknown }) {
  return error === null || error === undefined ? null : <FormFailure failure={failureOf(error)} />;
}
