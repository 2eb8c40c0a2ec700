/** Lines that were added and removed. */
export function PlusMinus({ added, removed }: { added: number; removed: number }) {
  return (
    <span className="flex shrink-0 gap-1.5 text-xs tabular-nums">
      <span className="text-ok">+{added}</span>
      <span className="text-bad">−{removed}</span>
    </span>
  );
}
