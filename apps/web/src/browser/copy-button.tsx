'use client';
import { IconButton } from '@slipway/ui';
import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { toast } from 'sonner';

/** Into the clipboard; `false`, and a toast, when the browser does not allow it. */
export async function copyText(text: Promise<string>): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(await text);
    return true;
  } catch {
    toast.error('The browser did not allow copying.');
    return false;
  }
}

/** Copies when pressed. `text` may be asked for lazily: the whole output can be far away. */
export function CopyButton({ label, text, className }: { label: string; text: () => string | Promise<string>; className?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <IconButton
      label={copied ? 'Copied' : label}
      size="icon-small"
      className={className}
      onClick={() => void Promise.resolve().then(async () => setCopied(await copyText(Promise.resolve().then(text))))}
    >
      {copied ? <Check aria-hidden /> : <Copy aria-hidden />}
    </IconButton>
  );
}
