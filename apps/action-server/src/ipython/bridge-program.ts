/**
 * Speaks to the kernel for us, in Python because the kernel's own client is: commands come as lines of JSON on standard
 * input, what the kernel says leaves as lines of JSON on standard output. `jupyter_client` starts the kernel over
 * sockets of the file system, which no other process of the pod's network can reach.
 *
 * In: `{id, code, silent}` runs a cell, `{interrupt: true}` interrupts the one that runs. Out, and no faster than it is
 * read: a kernel that prints more is stopped until then. `{ready}`, then of each cell `{id, stream}`, `{id, display}`,
 * `{id, error}`, at last `{id, done, count}` with `ok`, `error` or `died`: with the kernel this ends too.
 */
export const BRIDGE_PROGRAM = `
import json, os, queue, select, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
out = os.fdopen(os.dup(1), 'wb', buffering=0)
os.set_blocking(out.fileno(), False)
os.dup2(2, 1)
blocked, held, free = 0.0, False, False
turn = threading.Lock()
def send(number):
    try: os.kill(manager.provisioner.pid, number)
    except Exception: pass
def hold():
    global held
    with turn:
        if held or free: return
        held = True
        send(signal.SIGSTOP)
def release():
    global blocked, held
    with turn:
        blocked = 0.0
        if held: send(signal.SIGCONT)
        held = False
def say(**message):
    global blocked
    data = memoryview((json.dumps(message) + '\\n').encode('utf-8', 'replace'))
    while data:
        sent = out.write(data)
        if sent:
            data = data[sent:]
            continue
        since = time.monotonic()
        select.select([], [out], [], 0.1)
        blocked += time.monotonic() - since
        if blocked > PATIENCE: hold()
from jupyter_client.manager import KernelManager
from jupyter_client.kernelspec import KernelSpec
folder = sys.argv[1]
PIECE = 1_000_000
LARGEST = 50_000_000
# What is not taken for longer than this stops the kernel, so that it does not go on to print what nobody can keep. Seconds.
PATIENCE = 0.1
class Manager(KernelManager):
    @property
    def kernel_spec(self):
        argv = [sys.executable, '-m', 'ipykernel_launcher', '-f', '{connection_file}', '--HistoryManager.enabled=False']
        return KernelSpec(argv=argv, display_name='Python', language='python')
manager = Manager(transport='ipc', ip=os.path.join(folder, 'socket'), connection_file=os.path.join(folder, 'kernel.json'))
manager.start_kernel()
client = manager.client()
client.start_channels()
client.wait_for_ready(timeout=60)
say(ready=True)
work = queue.Queue()
def read():
    global free
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message.get('interrupt'):
            try: manager.interrupt_kernel()
            except Exception: pass
            free = True
            release()
        else: work.put(message)
    # Who asked is gone, also when a cell still runs.
    try: os.killpg(manager.provisioner.pid, signal.SIGKILL)
    except Exception: pass
    os._exit(0)
threading.Thread(target=read, daemon=True).start()
def own(message, parent):
    return message['parent_header'].get('msg_id') == parent
def heard(timeout):
    # The kernel goes on when all that it has said is taken.
    if held:
        try: return client.get_iopub_msg(timeout=0)
        except queue.Empty: release()
    return client.get_iopub_msg(timeout=timeout)
def run(ask):
    global free
    free = False
    ident = ask['id']
    parent = client.execute(ask['code'], silent=ask['silent'], store_history=not ask['silent'], allow_stdin=False, stop_on_error=True)
    status, count, replied = 'ok', None, None
    while True:
        # The kernel drops what nobody reads quickly enough, its last word too: then its reply has to do.
        if replied is None:
            try:
                reply = client.get_shell_msg(timeout=0)
                if own(reply, parent):
                    replied = time.monotonic()
                    count = reply['content'].get('execution_count')
                    status = 'ok' if reply['content'].get('status') == 'ok' else 'error'
            except queue.Empty: pass
        try: message = heard(0.05 if replied else 0.2)
        except queue.Empty:
            if not manager.is_alive():
                say(id=ident, done='died', count=None)
                os._exit(1)
            if replied is not None and time.monotonic() - replied > 2: break
            continue
        if not own(message, parent): continue
        kind, content = message['msg_type'], message['content']
        if kind == 'stream':
            text, at = content['text'], 0
            while at < len(text):
                # Whoever interrupts waits for the end: of what was printed ahead the last part will do.
                skipped = len(text) - PIECE - at if free and len(text) - at > 3 * PIECE else 0
                if skipped: say(id=ident, stream='\\n[... ' + str(skipped) + ' characters of the interrupted cell are left out here ...]\\n')
                at += skipped
                say(id=ident, stream=text[at:at + PIECE])
                at += PIECE
        elif kind in ('display_data', 'execute_result', 'update_display_data'):
            shown = {name: value for name, value in content['data'].items() if not isinstance(value, str) or len(value) <= LARGEST}
            say(id=ident, display=shown or {'text/plain': '[a result that is too large to be shown]'})
        elif kind == 'error':
            status = 'error'
            text = '\\n'.join(content['traceback']) or content['ename'] + ': ' + content['evalue']
            for at in range(0, len(text), PIECE): say(id=ident, error=text[at:at + PIECE])
        elif kind == 'status' and content['execution_state'] == 'idle':
            if replied is None:
                try:
                    reply = client.get_shell_msg(timeout=2)
                    while not own(reply, parent): reply = client.get_shell_msg(timeout=2)
                    count = reply['content'].get('execution_count')
                    status = 'ok' if reply['content'].get('status') == 'ok' else 'error'
                except queue.Empty: pass
            break
    say(id=ident, done=status, count=count)
    release()
while True: run(work.get())
`;
