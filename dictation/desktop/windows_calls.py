"""What is asked of Windows, through ctypes: input, clipboard, windows, the keyboard hook. Thin on purpose; never run
on a real Windows. Imported there alone.
"""

from __future__ import annotations

import contextlib
import ctypes
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from ctypes import wintypes

from dictation.desktop.windows import KEYEVENTF_KEYUP, KEYEVENTF_UNICODE, Foreground, Hook, Input

assert sys.platform == "win32"

user32 = ctypes.WinDLL("user32", use_last_error=True)
kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
advapi32 = ctypes.WinDLL("advapi32", use_last_error=True)
wtsapi32 = ctypes.WinDLL("wtsapi32", use_last_error=True)

CF_UNICODETEXT, GMEM_MOVEABLE = 13, 2
WM_RENDERFORMAT, WM_RENDERALLFORMATS, WM_APP, WM_QUIT = 0x305, 0x306, 0x8000, 0x12
WM_POWERBROADCAST, PBT_APMRESUMEAUTOMATIC = 0x218, 0x12
WM_WTSSESSION_CHANGE, WTS_SESSION_UNLOCK = 0x2B1, 8
HWND_MESSAGE = -3
KEYEVENTF_EXTENDEDKEY, VK_INSERT = 1, 0x2D
# clipboard formats whose handle is no memory: bitmaps, metafiles, palettes, what the owner draws, private GDI objects
NO_MEMORY = {2, 3, 9, 14, 0x80, 0x82, 0x83, 0x8E, *range(0x300, 0x400)}
WH_KEYBOARD_LL, LLKHF_UP, LLKHF_INJECTED = 13, 0x80, 0x10
TOKEN_QUERY, TOKEN_ELEVATION, QUERY_LIMITED = 8, 20, 0x1000
ES_PASSWORD, GWL_STYLE = 0x20, -16
NO_HISTORY = (
    "ExcludeClipboardContentFromMonitorProcessing",
    "CanIncludeInClipboardHistory",
    "CanUploadToCloudClipboard",
)
CLIPBOARD_TRIES, CLIPBOARD_PAUSE_S = 20, 0.01
SAVE_LIMIT_BYTES = 64 * 1024 * 1024

LRESULT = ctypes.c_ssize_t
WNDPROC = ctypes.WINFUNCTYPE(LRESULT, wintypes.HWND, wintypes.UINT, wintypes.WPARAM, wintypes.LPARAM)
HOOKPROC = ctypes.WINFUNCTYPE(LRESULT, ctypes.c_int, wintypes.WPARAM, wintypes.LPARAM)


class KEYBDINPUT(ctypes.Structure):
    _fields_ = (
        ("wVk", wintypes.WORD),
        ("wScan", wintypes.WORD),
        ("dwFlags", wintypes.DWORD),
        ("time", wintypes.DWORD),
        ("dwExtraInfo", ctypes.c_size_t),
    )


class INPUT(ctypes.Structure):
    # as large as the union with MOUSEINPUT, which SendInput checks
    _fields_ = (("type", wintypes.DWORD), ("ki", KEYBDINPUT), ("padding", ctypes.c_ubyte * 8))


class KBDLLHOOKSTRUCT(ctypes.Structure):
    _fields_ = (
        ("vkCode", wintypes.DWORD),
        ("scanCode", wintypes.DWORD),
        ("flags", wintypes.DWORD),
        ("time", wintypes.DWORD),
        ("dwExtraInfo", ctypes.c_size_t),
    )


class GUITHREADINFO(ctypes.Structure):
    _fields_ = (
        ("cbSize", wintypes.DWORD),
        ("flags", wintypes.DWORD),
        ("hwndActive", wintypes.HWND),
        ("hwndFocus", wintypes.HWND),
        ("hwndCapture", wintypes.HWND),
        ("hwndMenuOwner", wintypes.HWND),
        ("hwndMoveSize", wintypes.HWND),
        ("hwndCaret", wintypes.HWND),
        ("rcCaret", wintypes.RECT),
    )


class WNDCLASS(ctypes.Structure):
    _fields_ = (
        ("style", wintypes.UINT),
        ("lpfnWndProc", WNDPROC),
        ("cbClsExtra", ctypes.c_int),
        ("cbWndExtra", ctypes.c_int),
        ("hInstance", wintypes.HINSTANCE),
        ("hIcon", wintypes.HICON),
        ("hCursor", wintypes.HANDLE),
        ("hbrBackground", wintypes.HBRUSH),
        ("lpszMenuName", wintypes.LPCWSTR),
        ("lpszClassName", wintypes.LPCWSTR),
    )


# Handles are pointers; what is not declared here would be cut to an int
kernel32.GetModuleHandleW.restype = wintypes.HMODULE
kernel32.GetModuleHandleW.argtypes = [wintypes.LPCWSTR]
kernel32.CloseHandle.argtypes = [wintypes.HANDLE]
advapi32.OpenProcessToken.argtypes = [wintypes.HANDLE, wintypes.DWORD, ctypes.POINTER(wintypes.HANDLE)]
advapi32.GetTokenInformation.argtypes = [
    *(wintypes.HANDLE, ctypes.c_int, ctypes.c_void_p, wintypes.DWORD, ctypes.POINTER(wintypes.DWORD))
]
wtsapi32.WTSRegisterSessionNotification.argtypes = [wintypes.HWND, wintypes.DWORD]
user32.RegisterSuspendResumeNotification.restype = ctypes.c_void_p
user32.RegisterSuspendResumeNotification.argtypes = [wintypes.HANDLE, wintypes.DWORD]
user32.CreateWindowExW.argtypes = [
    *(wintypes.DWORD, wintypes.LPCWSTR, wintypes.LPCWSTR, wintypes.DWORD),
    *(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int),
    *(wintypes.HWND, wintypes.HMENU, wintypes.HINSTANCE, ctypes.c_void_p),
]
user32.OpenClipboard.argtypes = [wintypes.HWND]
user32.GetClipboardOwner.restype = wintypes.HWND
user32.PostMessageW.argtypes = [wintypes.HWND, wintypes.UINT, wintypes.WPARAM, wintypes.LPARAM]
user32.PostThreadMessageW.argtypes = [wintypes.DWORD, wintypes.UINT, wintypes.WPARAM, wintypes.LPARAM]
user32.GetWindowThreadProcessId.argtypes = [wintypes.HWND, ctypes.POINTER(wintypes.DWORD)]
user32.GetClassNameW.argtypes = [wintypes.HWND, wintypes.LPWSTR, ctypes.c_int]
user32.GetWindowLongW.argtypes = [wintypes.HWND, ctypes.c_int]
user32.UnhookWindowsHookEx.argtypes = [wintypes.HHOOK]
user32.SendInput.argtypes = [wintypes.UINT, ctypes.POINTER(INPUT), ctypes.c_int]
user32.GetAsyncKeyState.restype = user32.VkKeyScanW.restype = ctypes.c_short
user32.VkKeyScanW.argtypes = [wintypes.WCHAR]
kernel32.GlobalAlloc.restype = kernel32.GlobalLock.restype = ctypes.c_void_p
kernel32.GlobalAlloc.argtypes = [wintypes.UINT, ctypes.c_size_t]
kernel32.GlobalLock.argtypes = kernel32.GlobalUnlock.argtypes = kernel32.GlobalSize.argtypes = [ctypes.c_void_p]
kernel32.GlobalSize.restype = ctypes.c_size_t
kernel32.OpenProcess.restype = wintypes.HANDLE
user32.GetClipboardData.restype = ctypes.c_void_p
user32.SetClipboardData.argtypes = [wintypes.UINT, ctypes.c_void_p]
user32.DefWindowProcW.restype = user32.CallNextHookEx.restype = LRESULT
user32.DefWindowProcW.argtypes = [wintypes.HWND, wintypes.UINT, wintypes.WPARAM, wintypes.LPARAM]
user32.CallNextHookEx.argtypes = [wintypes.HHOOK, ctypes.c_int, wintypes.WPARAM, wintypes.LPARAM]
user32.GetForegroundWindow.restype = user32.CreateWindowExW.restype = wintypes.HWND
user32.SetWindowsHookExW.restype = wintypes.HHOOK
user32.SetWindowsHookExW.argtypes = [ctypes.c_int, HOOKPROC, wintypes.HINSTANCE, wintypes.DWORD]


@contextmanager
def open_clipboard(owner: int | None) -> Iterator[None]:
    """Another program may have it open for a moment."""
    for _ in range(CLIPBOARD_TRIES):
        if user32.OpenClipboard(owner):
            break
        time.sleep(CLIPBOARD_PAUSE_S)
    else:
        raise OSError("The clipboard is in use by another program.")
    try:
        yield
    finally:
        user32.CloseClipboard()


def _set_data(kind: int, data: bytes) -> None:
    memory = kernel32.GlobalAlloc(GMEM_MOVEABLE, max(len(data), 1))
    if not memory:
        raise OSError("There is no memory for the clipboard.")
    ctypes.memmove(kernel32.GlobalLock(memory), data, len(data))
    kernel32.GlobalUnlock(memory)
    user32.SetClipboardData(kind, memory)


def _get_data(kind: int) -> bytes | None:
    if kind in NO_MEMORY:  # a bitmap has a format in memory beside it
        return None
    memory = user32.GetClipboardData(kind)
    size = kernel32.GlobalSize(memory) if memory else 0
    if not size or size > SAVE_LIMIT_BYTES:
        return None
    data = ctypes.string_at(kernel32.GlobalLock(memory), size)
    kernel32.GlobalUnlock(memory)
    return data


def _wide(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass") + b"\0\0"


class MessageWindow:
    """A hidden window on a thread of its own: it owns the clipboard and renders the text when it is asked for."""

    def __init__(self) -> None:
        self.taken = threading.Event()
        self.text = ""
        self.woken: list[Callable[[], None]] = []
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._ready = threading.Event()
        threading.Thread(target=self._run, name="clipboard", daemon=True).start()
        self._ready.wait(5)

    def _run(self) -> None:
        self._procedure = WNDPROC(self._message)
        window_class = WNDCLASS(lpfnWndProc=self._procedure, lpszClassName="SaysoClipboard")
        user32.RegisterClassW(ctypes.byref(window_class))
        self.handle = user32.CreateWindowExW(0, "SaysoClipboard", "", 0, 0, 0, 0, 0, HWND_MESSAGE, None, None, None)
        wtsapi32.WTSRegisterSessionNotification(self.handle, 0)  # of this session
        user32.RegisterSuspendResumeNotification(self.handle, 0)  # flag 0: to a window
        self._ready.set()
        message = wintypes.MSG()
        while user32.GetMessageW(ctypes.byref(message), None, 0, 0) > 0:
            user32.DispatchMessageW(ctypes.byref(message))

    def _message(self, window: int, message: int, wide: int, long: int) -> int:
        if message == WM_RENDERFORMAT and wide == CF_UNICODETEXT:
            _set_data(CF_UNICODETEXT, _wide(self.text))
            self.taken.set()
            return 0
        if message == WM_RENDERALLFORMATS:
            with contextlib.suppress(OSError), open_clipboard(self.handle):
                _set_data(CF_UNICODETEXT, _wide(self.text))
            return 0
        if message == WM_APP:
            while not self._calls.empty():
                self._calls.get()()
            return 0
        if (message, wide) in (
            (WM_POWERBROADCAST, PBT_APMRESUMEAUTOMATIC),
            (WM_WTSSESSION_CHANGE, WTS_SESSION_UNLOCK),
        ):
            for rearm in self.woken:
                with contextlib.suppress(OSError):
                    rearm()
        return int(user32.DefWindowProcW(window, message, wide, long))

    def call(self, function: Callable[[], None]) -> None:
        """Run on the window's thread. Raises what it raises, and OSError where it does not come to an end."""
        done: Future[None] = Future()

        def run() -> None:
            try:
                function()
                done.set_result(None)
            except OSError as error:
                done.set_exception(error)

        self._calls.put(run)
        user32.PostMessageW(self.handle, WM_APP, 0, 0)
        try:
            done.result(5)
        except TimeoutError as error:
            raise OSError("The clipboard does not answer.") from error


class DelayedText:
    """Text offered by delayed rendering, with the old formats kept aside."""

    def __init__(self, window: MessageWindow, text: str) -> None:
        self._window = window
        self._old: dict[int, bytes] = {}
        self._sequence = 0
        window.text = text
        window.taken.clear()
        window.call(self._offer)

    def _offer(self) -> None:
        with open_clipboard(self._window.handle):
            kind = 0
            while kind := user32.EnumClipboardFormats(kind):
                data = _get_data(kind)
                if data is not None:
                    self._old[kind] = data
            user32.EmptyClipboard()
            for name in NO_HISTORY:
                _set_data(user32.RegisterClipboardFormatW(name), b"\0\0\0\0")
            user32.SetClipboardData(CF_UNICODETEXT, None)
        self._sequence = user32.GetClipboardSequenceNumber()

    def wait_taken(self, timeout_s: float) -> bool:
        return self._window.taken.wait(timeout_s)

    def give_back(self, after_s: float) -> None:
        timer = threading.Timer(after_s, self._restore_soon)
        timer.daemon = True
        timer.start()

    def _restore_soon(self) -> None:
        with contextlib.suppress(OSError):  # the text stays there instead
            self._window.call(self._restore)

    def _restore(self) -> None:
        if user32.GetClipboardOwner() != self._window.handle:
            return  # somebody copied something meanwhile
        with open_clipboard(self._window.handle):
            user32.EmptyClipboard()
            for kind, data in self._old.items():
                _set_data(kind, data)

    def keep(self) -> None:
        pass  # rendered when it is asked for, or when Sayso ends


class KeyboardHook:
    """WH_KEYBOARD_LL on a thread that does nothing else: Windows drops a hook that takes long."""

    def __init__(self, on_key: Callable[[int, bool], bool]) -> None:
        self._on_key = on_key
        self._procedure = HOOKPROC(self._event)
        self._start()

    def _start(self) -> None:
        self._ready = threading.Event()
        self._handle: int | None = None
        self._thread = threading.Thread(target=self._run, name="keyboard-hook", daemon=True)
        self._thread.start()
        if not self._ready.wait(5) or not self._handle:
            raise OSError("it gave no keyboard hook")

    def _run(self) -> None:
        self._thread_id = kernel32.GetCurrentThreadId()
        module = kernel32.GetModuleHandleW(None)
        handle = self._handle = user32.SetWindowsHookExW(WH_KEYBOARD_LL, self._procedure, module, 0)
        self._ready.set()
        if not handle:
            return
        message = wintypes.MSG()
        while user32.GetMessageW(ctypes.byref(message), None, 0, 0) > 0:
            pass
        user32.UnhookWindowsHookEx(handle)

    def _event(self, code: int, wide: int, long: int) -> int:
        if code >= 0:
            key = ctypes.cast(long, ctypes.POINTER(KBDLLHOOKSTRUCT)).contents
            if not key.flags & LLKHF_INJECTED and self._on_key(key.vkCode, bool(key.flags & LLKHF_UP)):
                return 1
        return int(user32.CallNextHookEx(None, code, wide, long))

    def rearm(self) -> None:
        self.close()
        self._start()

    def close(self) -> None:
        user32.PostThreadMessageW(self._thread_id, WM_QUIT, 0, 0)
        self._thread.join(2)


class Win32Calls:
    """`WindowsCalls` on a real Windows."""

    def __init__(self) -> None:
        self._window = MessageWindow()

    def foreground(self) -> Foreground | None:
        window = user32.GetForegroundWindow()
        if not window:
            return None
        pid = wintypes.DWORD()
        user32.GetWindowThreadProcessId(window, ctypes.byref(pid))
        name = ctypes.create_unicode_buffer(256)
        user32.GetClassNameW(window, name, 256)
        return Foreground(window, pid.value, name.value, self._is_password(), _is_elevated(pid.value))

    def _is_password(self) -> bool:
        """Whether the focused control is an edit field that hides what is typed; other toolkits don't tell."""
        info = GUITHREADINFO(cbSize=ctypes.sizeof(GUITHREADINFO))
        if not user32.GetGUIThreadInfo(0, ctypes.byref(info)) or not info.hwndFocus:
            return False
        return bool(user32.GetWindowLongW(info.hwndFocus, GWL_STYLE) & ES_PASSWORD)

    def is_elevated(self) -> bool:
        return _is_elevated(kernel32.GetCurrentProcessId())

    def send_input(self, inputs: list[Input]) -> int:
        array = (INPUT * len(inputs))()
        for entry, wanted in zip(array, inputs, strict=True):
            entry.type = 1
            flags = (KEYEVENTF_KEYUP if wanted.up else 0) | (KEYEVENTF_UNICODE if wanted.unicode else 0)
            if wanted.unicode:
                entry.ki = KEYBDINPUT(dwFlags=flags, wScan=wanted.code)
                continue
            if wanted.code == VK_INSERT:
                flags |= KEYEVENTF_EXTENDEDKEY  # otherwise it is the number pad's, and Num Lock decides
            # remote desktops and virtual machines pass the scan code on, not the virtual key
            entry.ki = KEYBDINPUT(dwFlags=flags, wVk=wanted.code, wScan=user32.MapVirtualKeyW(wanted.code, 0))
        return int(user32.SendInput(len(inputs), array, ctypes.sizeof(INPUT)))

    def promise_text(self, text: str) -> DelayedText:
        return DelayedText(self._window, text.replace("\n", "\r\n"))

    def read_text(self) -> str | None:
        with open_clipboard(None):
            data = _get_data(CF_UNICODETEXT)
        return None if data is None else data.decode("utf-16-le", "replace").split("\0")[0].replace("\r\n", "\n")

    def write_text(self, text: str, secret: bool = False) -> None:
        def write() -> None:
            with open_clipboard(self._window.handle):
                user32.EmptyClipboard()
                if secret:
                    for name in NO_HISTORY:
                        _set_data(user32.RegisterClipboardFormatW(name), b"\0\0\0\0")
                _set_data(CF_UNICODETEXT, _wide(text.replace("\n", "\r\n")))

        self._window.call(write)

    def key_is_down(self, key: int) -> bool:
        return bool(user32.GetAsyncKeyState(key) & 0x8000)

    def key_for(self, character: str) -> int | None:
        found = user32.VkKeyScanW(character) if ord(character) < 0x10000 else -1
        return None if found == -1 or found >> 8 else found & 0xFF

    def hook(self, on_key: Callable[[int, bool], bool]) -> Hook:
        return KeyboardHook(on_key)

    def on_wake(self, rearm: Callable[[], None]) -> None:
        self._window.woken.append(rearm)


def _is_elevated(pid: int) -> bool:
    """Whether a process runs as administrator; one that we may not even ask does."""
    process = kernel32.OpenProcess(QUERY_LIMITED, False, pid)
    if not process:
        return True
    token = wintypes.HANDLE()
    try:
        if not advapi32.OpenProcessToken(process, TOKEN_QUERY, ctypes.byref(token)):
            return True
        elevated, size = wintypes.DWORD(), wintypes.DWORD()
        advapi32.GetTokenInformation(token, TOKEN_ELEVATION, ctypes.byref(elevated), 4, ctypes.byref(size))
        return bool(elevated.value)
    finally:
        kernel32.CloseHandle(process)
        if token:
            kernel32.CloseHandle(token)
