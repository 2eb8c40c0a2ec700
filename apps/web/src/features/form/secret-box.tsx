'use client';
import { Button, Notice } from '@slipway/ui';
import { Check, Copy } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { type ReactNode, useState } from 'react';
import { copyText } from '../../browser/copy-button.tsx';

/**
 * A secret that is on the screen this once. The whole of it is selected by a click, for a browser that does not allow
 * copying.
 */
export function SecretBox({ label, secret, children }: { label: string; secret: string; children?: ReactNode }) {
  const t = useTranslations();
  return (
    <div className="flex flex-col gap-2">
      <Notice tone="warn" title={t('form.copyItNowItIs')} />
      <CopyLine label={label} text={secret} />
      {children}
    </div>
  );
}

/** One line of text to take elsewhere: an address, a record, a command. */
export function CopyLine({ label, text }: { label: string; text: string }) {
  const t = useTranslations();
  const [copied, setCopied] = useState(false);
  return (
    <fieldset className="min-w-0">
      <legend className="pb-1 text-xs font-medium text-ink-muted">{label}</legend>
      <div className="flex min-w-0 items-start gap-2 rounded-md border border-line-strong bg-raised p-1 pl-3">
        <code className="min-w-0 flex-1 py-1 font-mono text-xs break-all whitespace-pre-wrap select-all">{text}</code>
        <Button
          size="small"
          aria-label={`${copied ? t('form.copied') : t('form.copy')}: ${label}`}
          onClick={() => void copyText(t, Promise.resolve(text)).then(setCopied)}
        >
          {copied ? <Check aria-hidden /> : <Copy aria-hidden />}
          {copied ? t('form.copied') : t('form.copy')}
        </Button>
      </div>
    </fieldset>
  );
}
