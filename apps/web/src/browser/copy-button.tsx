'use client';
import { IconButton } from '@slipway/ui';
import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { toast } from 'sonner';

/** Copies when pressed. `text` may be asked for lazily: the whole output can be far away. */
export function CopyButton({ label, text, className }: { label: string; text: () => string | Promise<string>; className?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(await text());
      setCopied(true);
    } catch {
      toast.error('The browser did not allow copying.');
    }
  };
  return (
    <IconButton label={copied ? 'Copied' : label} size="icon-small" className={className} onClick={() => void copy()}>
      {copied ? <Check aria-hidden /> : <Copy aria-hidden />}
    </IconButton>
  );
}
