import { LoaderCircle } from 'lucide-react';
import { cn } from './class-names.js';

/** Decoration beside a label that says the same; it has no name of its own. Still when motion is unwanted. */
export function Spinner({ className }: { className?: string }) {
  return <LoaderCircle aria-hidden className={cn('size-4 motion-safe:animate-spin', className)} />;
}
