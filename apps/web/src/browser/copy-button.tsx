'use client';
import { IconButton } from '@slipway/ui';
import { Check, Copy } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useEffect, useState } from 'react';
import { toast } from 'sonner';
import type { Translate } from '../messages/translate.ts';

/** Into the clipboard; `false`, and a toast, when the browser does not allow it. */
export async function copyText(t: Translate, text: Promise<string>): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(await text);
    return true;
  } catch {
    toast.error(t('common.theBrowserDidNotAllow'));
    return false;
  }
}

/** Copies when pressed. `text` may be asked for lazily: the whole output can be far away. */
export function CopyButton({
  label,
  text,
  className,
}: {
  label: string;
  text: () => string | Promise<string>;
  className?: string;
}) {
  const t = useTranslations();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <IconButton
      label={copied ? t('common.copied') : label}
      size="icon-small"
      className={className}
      onClick={() =>
        void Promise.resolve().then(async () => setCopied(await copyText(t, Promise.resolve().then(text))))
      }
    >
      {copied ? <Check aria-hidden /> : <Copy aria-hidden />}
    </IconButton>
  );
}
